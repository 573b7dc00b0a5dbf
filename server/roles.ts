/** From the least to the most; pure, so that anything may read it. */
export const ROLES = ['viewer', 'operator', 'editor', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** Above zero when `a` may more than `b`. */
export function compareRoles(a: Role, b: Role): number {
  return ROLES.indexOf(a) - ROLES.indexOf(b)
}

/** A stored text as a role; what nobody knows may only look. */
export function roleOf(text: string): Role {
  return ROLES.find((role) => role === text) ?? 'viewer'
}
