(self.SEARCH=self.SEARCH||[]).push(["fields","b0ed92e44e2b",[["open"],["fee"]]]);
