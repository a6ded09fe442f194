# src/verifier/report.py
from jinja2 import Environment, FileSystemLoader
from pathlib import Path

class EvalReport:
    def __init__(self, eval_id: str, iteration: int, discrepancies: List[FieldDiscrepancy], metrics: Dict):
        self.eval_id = eval_id
        self.iteration = iteration
        self.discrepancies = discrepancies
        self.metrics = metrics

    def generate_html(self, output_path: Path):
        """Generate HTML report using Jinja2 template."""
        env = Environment(loader=FileSystemLoader('src/verifier/templates'))
        template = env.get_template('eval-report.html.j2')

        # Group discrepancies by error type
        errors_by_type = {}
        for d in self.discrepancies:
            errors_by_type.setdefault(d.error_type, []).append(d)

        html = template.render(
            eval_id=self.eval_id,
            iteration=self.iteration,
            metrics=self.metrics,
            discrepancies=self.discrepancies,
            errors_by_type=errors_by_type,
            total_fields=self.metrics['total_fields'],
            correct_fields=self.metrics['correct_fields']
        )

        output_path.write_text(html)
