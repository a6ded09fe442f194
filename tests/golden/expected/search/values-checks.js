(self.SEARCH=self.SEARCH||[]).push(["values","checks",[["names <i>","evals/checks/fields/names-i-79724f4fc7a04012238b1e5555adfbe7.html",["Ada, Ben, Eve"]]]]);
