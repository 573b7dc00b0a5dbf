/** From least to most powerful. */
export const ROLES = ['viewer', 'operator', 'editor', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** Above zero if `a` is the more powerful role. */
export function compareRoles(a: Role, b: Role): number {
  return ROLES.indexOf(a) - ROLES.indexOf(b)
}

/** Reads a stored role; an unknown one counts as the weakest. */
export function roleOf(text: string): Role {
  return ROLES.find((role) => role === text) ?? 'viewer'
}
