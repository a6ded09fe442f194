(self.SEARCH=self.SEARCH||[]).push(["values","notes",[["terms","evals/notes/fields/terms.html",["kiln"]],["dates","evals/notes/fields/dates.html",["Monday","Sunday"]]]]);
