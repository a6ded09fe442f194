# src/verifier/persistence.py
from pathlib import Path
import json
from datetime import datetime

class EvalStore:
    def __init__(self, evals_dir: Path = Path("evals")):
        self.evals_dir = evals_dir

    def get_next_iteration(self, eval_id: str) -> int:
        """Get next iteration number for this eval."""
        results_dir = self.evals_dir / eval_id / "results"
        if not results_dir.exists():
            return 1

        existing = [d.name for d in results_dir.iterdir() if d.is_dir()]
        iterations = [int(d.split('-')[1]) for d in existing if d.startswith('iteration-')]
        return max(iterations, default=0) + 1

    def save_evaluation(self, eval_id: str, iteration: int, extracted: Dict, results: Dict, report_html: str):
        """Save evaluation results for this iteration."""
        iter_dir = self.evals_dir / eval_id / "results" / f"iteration-{iteration:03d}"
        iter_dir.mkdir(parents=True, exist_ok=True)

        # Save extracted JSON
        (iter_dir / "extracted.json").write_text(json.dumps(extracted, indent=2))

        # Save eval results
        results['metadata'] = {
            'eval_id': eval_id,
            'iteration': iteration,
            'timestamp': datetime.now().isoformat()
        }
        (iter_dir / "eval-results.json").write_text(json.dumps(results, indent=2))

        # Save HTML report
        (iter_dir / "eval-report.html").write_text(report_html)

        # Update aggregate metrics
        self._update_aggregate(eval_id, iteration, results)

    def _update_aggregate(self, eval_id: str, iteration: int, results: Dict):
        """Update aggregate.json with metrics from this iteration."""
        agg_path = self.evals_dir / eval_id / "results" / "aggregate.json"

        if agg_path.exists():
            aggregate = json.loads(agg_path.read_text())
        else:
            aggregate = {'iterations': []}

        aggregate['iterations'].append({
            'iteration': iteration,
            'timestamp': results['metadata']['timestamp'],
            'precision': results['metrics']['precision'],
            'recall': results['metrics']['recall'],
            'f1': results['metrics']['f1'],
            'total_errors': len(results['discrepancies']),
            'errors_by_type': results['errors_by_type']
        })

        agg_path.write_text(json.dumps(aggregate, indent=2))
