(self.SEARCH=self.SEARCH||[]).push(["values","faq",[["hours","evals/faq/fields/hours.html",["Hello! No"]],["prices","evals/faq/fields/prices.html",["6 <EUR>"]]]]);
