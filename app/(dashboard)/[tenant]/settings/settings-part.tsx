'use client'
import { Lock } from 'lucide-react'
import { usePathname } from 'next/navigation'
import type { ReactNode } from 'react'
import { EmptyState } from '@/app/_ui/empty-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useTenant } from '../tenant-context'
import { SETTINGS } from './settings-navigation'

/** Sections with words of their own: one lists the permissions of each role, the other is for one workspace only. */
const EXPLAIN: readonly string[] = ['/settings/members', '/settings/service']

/**
 * A section of the settings, or the reason why the role does not see it. Then it is not rendered, so it requests nothing
 * that the server would refuse.
 */
export function SettingsPart({ children }: { children: ReactNode }) {
  const { path, may, role } = useTenant()
  const pathname = usePathname()
  const part = SETTINGS.find(({ href }) => pathname.startsWith(path(href)))
  if (!part || part.operation === null || EXPLAIN.includes(part.href) || may(part.operation)) return children
  return (
    <>
      <PageHeader title={part.label} />
      <PageBody>
        <EmptyState icon={Lock} title="Only admins and owners see this">
          Your role is {role}. If you need something here, ask an admin or an owner of the workspace.
        </EmptyState>
      </PageBody>
    </>
  )
}
