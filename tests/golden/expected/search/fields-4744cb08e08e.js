(self.SEARCH=self.SEARCH||[]).push(["fields","4744cb08e08e",["terms","dates"]]);
