import type { Role } from '@/server/roles'

/** Where a person lands in a workspace: people who answer its tasks, and build nothing, in the inbox. */
export function landing({ slug, role }: { slug: string; role: Role }): string {
  return role === 'operator' ? `/${slug}/inbox` : `/${slug}`
}
