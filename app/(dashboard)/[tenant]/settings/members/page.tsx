import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { POLICY } from '@/server/auth/policy'
import { MemberList } from './member-list'
import { RoleMatrix } from './role-matrix'

export const metadata: Metadata = { title: 'Members' }

export default workspacePage(
  () => (
    <MemberList>
      <RoleMatrix policy={POLICY} />
    </MemberList>
  ),
  (trpc) => [trpc.members.list.queryOptions(), trpc.members.invitations.queryOptions()],
)
