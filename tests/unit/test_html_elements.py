from markupsafe import Markup

from sitegen.pages.html.tables import crumbs, kpi


def test_crumbs_link_to_all_pages_above_and_name_the_page_itself():
    assert crumbs([("Overview", "../index.html"), ("<A> & B", 'a"b.html'), (Markup("<i>c</i>"), None)]) == (
        '<nav class="crumbs" aria-label="Breadcrumb"><a href="../index.html">Overview</a>'
        '<span aria-hidden="true">/</span><a href="a&#34;b.html">&lt;A&gt; &amp; B</a>'
        '<span aria-hidden="true">/</span><span aria-current="page"><i>c</i></span></nav>'
    )


def test_a_number_stands_below_its_label_with_texts_escaped():
    assert kpi("Errors <1>", 12, Markup("<b>+1</b>"), "a & b") == (
        '<div class="kpi"><dt>Errors &lt;1&gt;</dt><dd><span class="v">12</span><b>+1</b>'
        '<span class="x">a &amp; b</span></dd></div>'
    )
