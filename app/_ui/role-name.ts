/** A role that stands by itself, like all other values. In a sentence it is a word like others. */
export function roleName(role: string): string {
  return role.charAt(0).toUpperCase() + role.slice(1)
}
