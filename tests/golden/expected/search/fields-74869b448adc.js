(self.SEARCH=self.SEARCH||[]).push(["fields","74869b448adc",[["plant"],["water"]]]);
