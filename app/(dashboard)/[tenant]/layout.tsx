import { cookies, headers } from 'next/headers'
import { notFound, redirect } from 'next/navigation'
import type { ReactNode } from 'react'
import { TrpcClientProvider } from '@/app/_trpc/client'
import { ZONE_COOKIE, zoneNamed } from '@/app/_ui/server-zone'
import { ZoneProvider } from '@/app/_ui/shown-zone'
import { KeepSignedIn } from '@/app/(auth)/keep-signed-in'
import { may, type Operation, POLICY } from '@/server/auth/policy'
import { runsService } from '@/server/auth/runs-service'
import { findMembership, listMemberships, readSession } from '@/server/auth/session'
import { database } from '@/server/database'
import { env } from '@/server/env'
import { directLimit } from '@/server/files/direct/limits'
import { Shell } from './shell'
import { type TenantInfo, TenantProvider } from './tenant-context'
import { WorkspaceFiles } from './workspace-files'

export default async function TenantLayout({
  children,
  params,
}: {
  children: ReactNode
  params: Promise<{ tenant: string }>
}) {
  const { tenant: slug } = await params
  const sent = await headers()
  const user = await readSession(sent)
  if (!user) redirect(`/sign-in?next=${encodeURIComponent(sent.get('x-address') ?? `/${slug}`)}`)
  const { db } = database()
  const [membership, memberships] = await Promise.all([
    findMembership(db, user.userId, slug),
    listMemberships(db, user.userId),
  ])
  // For every id, "does not exist" and "not yours" look the same.
  if (!membership) notFound()
  const operations = (Object.keys(POLICY) as Operation[]).filter((operation) => may(membership.role, operation))
  const seesService = operations.includes('service:read') && (await runsService(db, membership.tenantId))
  const tenant: TenantInfo = {
    id: membership.tenantId,
    slug: membership.slug,
    name: membership.tenantName,
    role: membership.role,
    user: { id: user.userId, name: user.name, email: user.email },
    operations: operations.filter((operation) => operation !== 'service:read' || seesService),
    // A platform that bills every second of a request should not have one open per tab.
    streams: !env().VERCEL,
    uploadLimit: directLimit(),
    workspaces: memberships.map(({ slug, tenantName }) => ({ slug, name: tenantName })),
  }
  const zone = zoneNamed((await cookies()).get(ZONE_COOKIE)?.value)
  return (
    <TrpcClientProvider tenant={slug} key={slug}>
      <TenantProvider tenant={tenant}>
        <ZoneProvider zone={zone}>
          <WorkspaceFiles>
            <Shell>{children}</Shell>
          </WorkspaceFiles>
        </ZoneProvider>
        <KeepSignedIn />
      </TenantProvider>
    </TrpcClientProvider>
  )
}
