# src/schemas/building_spec.py
from pydantic import BaseModel, Field, field_validator
from typing import Optional

class ProjectInfo(BaseModel):
    """Project metadata from ground truth."""
    run_title: str = Field(description="Project title")
    address: str = Field(description="Street address")
    city: str = Field(description="City name")
    climate_zone: int = Field(ge=1, le=16, description="CA climate zone 1-16")

    @field_validator('climate_zone')
    def validate_climate_zone(cls, v):
        if v not in range(1, 17):
            raise ValueError(f"Invalid climate zone: {v}")
        return v

class EnvelopeInfo(BaseModel):
    """Building envelope data."""
    conditioned_floor_area: float = Field(gt=0, description="CFA in sq ft")
    window_area: float = Field(ge=0, description="Total window area sq ft")
    window_to_floor_ratio: float = Field(ge=0, le=1, description="WWR")

class BuildingSpec(BaseModel):
    """Complete building specification from extraction."""
    project: ProjectInfo
    envelope: EnvelopeInfo
    # ... additional sections
