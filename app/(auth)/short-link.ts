import { headers } from 'next/headers'
import { notFound, redirect } from 'next/navigation'
import { readSession } from '@/server/auth/session'
import { database } from '@/server/database'
import { locate } from '@/server/tenants/locate'

/** Leads from an address without a workspace into the one that has the thing; by way of the sign-in when need be. */
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
