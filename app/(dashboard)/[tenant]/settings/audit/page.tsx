import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { inputOf } from './audit-filter'
import { AuditLog } from './audit-log'

export const metadata: Metadata = { title: 'Audit log' }

export default workspacePage(
  () => <AuditLog />,
  async (trpc, _, search) => [trpc.audit.list.queryOptions(inputOf(await search())), trpc.audit.actors.queryOptions()],
)
