(self.SEARCH=self.SEARCH||[]).push(["fields","59b271ae1bbc",[["a"],["b"]]]);
