import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { POLICY } from '@/server/auth/policy'
import { MemberList } from './member-list'
import { RoleMatrix } from './role-matrix'

export const metadata: Metadata = { title: 'Members' }

export default async function MembersPage({ params }: { params: Promise<{ tenant: string }> }) {
  const { tenant } = await params
  const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
  await Promise.all([prefetch(trpc.members.list.queryOptions()), prefetch(trpc.members.invitations.queryOptions())])
  return (
    <Hydrate>
      <MemberList>
        <RoleMatrix policy={POLICY} />
      </MemberList>
    </Hydrate>
  )
}
