/** A role as a standalone value, capitalised. Within a sentence it stays in lower case. */
export function roleName(role: string): string {
  return role.charAt(0).toUpperCase() + role.slice(1)
}
