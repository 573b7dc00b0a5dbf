import { headers } from 'next/headers'
import { notFound, redirect } from 'next/navigation'
import { readSession } from '@/server/auth/session'
import { database } from '@/server/database'
import { locate } from '@/server/tenants/locate'

/** Redirects from a URL without a workspace to the item's workspace, through sign-in if necessary. */
export async function followShortLink(
  here: string,
  what: 'run' | 'workflow',
  id: string,
  screen: (slug: string) => string,
): Promise<never> {
  const user = await readSession(await headers())
  if (!user) redirect(`/sign-in?next=${encodeURIComponent(here)}`)
  const slug = await locate(database().db, user.userId, what, id)
  if (slug === null) notFound()
  redirect(screen(slug))
}
