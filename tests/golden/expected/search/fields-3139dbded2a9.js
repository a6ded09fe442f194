(self.SEARCH=self.SEARCH||[]).push(["fields","3139dbded2a9",["number","total","rush","items[].description","items[].price","note <i>"]]);
