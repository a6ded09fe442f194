(self.SEARCH=self.SEARCH||[]).push(["fields","7c1ffd9ca054",[["dates"],["terms"]]]);
