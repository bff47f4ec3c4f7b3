"""Names of people and pets, with the accents, apostrophes and commas that real ones have."""

from typing import Final

FIRST: Final = (
    "Zoë", "José", "Anaïs", "Siobhán", "Mary Ann", "Jürgen", "Chloé", "Renée", "Søren", "François",
    "Iñaki", "Olivia", "Liam", "Emma", "Noah", "Ava", "Ethan", "Sofia", "Mason", "Isabella", "Logan",
    "Mia", "Lucas", "Amara", "Kwame", "Yuki", "Priya", "Omar", "Leila", "Wei", "Tomasz", "Ingrid",
    "D'Andre", "Jean-Luc", "Nadia", "Mateo", "Grace", "Henry", "Evelyn", "Jack", "Harper", "Samuel",
    "Aisha", "Daniel", "Hannah", "Caleb", "Ruth", "Victor", "Naomi",
)  # fmt: skip
LAST: Final = (
    "O'Neill", "Nuñez", "Müller", "García", "D'Angelo", "Smith-Jones", "Nguyễn", "Østergaard", "Peña",
    "O\u2019Brien", "van der Berg", "de la Cruz", "McDonald", "Kowalczyk", "Smith", "Johnson", "Williams",
    "Brown", "Jones", "Davis", "Miller", "Wilson", "Moore", "Taylor", "Anderson", "Thomas", "Jackson",
    "White", "Harris", "Martin", "Thompson", "Lee", "Perez", "Clark", "Lewis", "Walker", "Hall",
    "Allen", "Young", "King", "Wright", "Scott", "Green", "Baker", "Okafor", "Haddad", "Kim", "Chen",
    "Singh", "Patel", "Tanaka", "Silva", "Rossi", "Novák", "Ibrahim", "Smith, Jr.",
)  # fmt: skip
PETS: Final = (
    "Biscuit", "Luna", "Max", "Bella", "Mr. Whiskers", "Señor Gato", "Duke", "Daisy", "Rocky", "Milo",
    "Nala", "Oreo", "Peanut", "Ginger", "Shadow", "Pépé", "Kiki", "Boots", "Hazel", "Olive", "Rex",
    "Mochi", "Waffles", "Tank", "Poppy", 'Bob "The Tank"', "Princess", "Zeus", "Cleo", "Jasper",
    "Willow", "Finn", "Ruby", "Sunny", "Pumpkin", "Ziggy",
)  # fmt: skip
BREEDS: Final = {
    "Canine": (
        "Labrador Retriever",
        "Poodle, Standard",
        "German Shepherd",
        "Beagle",
        "Mixed",
        "Shih Tzu",
        "Löwchen",
    ),
    "Feline": ("Domestic Shorthair", "Maine Coon", "Siamese", "Ragdoll", "Sphynx"),
    "Rabbit": ("Holland Lop", "Netherland Dwarf"),
    "Avian": ("Cockatiel", "Budgerigar"),
    "Reptile": ("Bearded Dragon",),
}
SPECIES_SHARES: Final = (0.55, 0.35, 0.05, 0.03, 0.02)
