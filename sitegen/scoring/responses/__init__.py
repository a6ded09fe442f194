"""Kind ``responses``: what prompts answered to test cases (rules 29 to 32).

``cases`` reads the test cases, ``answers`` the responses of every variant, ``texts`` what stands for a text in both;
``measures`` computes, ``vectors`` finds what consistency is computed from, ``scorer`` puts a result together,
``document`` is that result as other programs read it.
"""
