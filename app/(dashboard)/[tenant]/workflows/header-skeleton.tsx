'use client'
import { useParams } from 'next/navigation'
import type { ReactNode } from 'react'
import { PageHeader } from '@/app/_ui/page-header'
import { useTenant } from '../tenant-context'
import { type WorkflowTab, WorkflowTabs } from './workflow-tabs'

/** The header of a workflow's page while it loads: title and tabs are in their final place. */
export function HeaderSkeleton({ here, actions }: { here: WorkflowTab; actions?: ReactNode }) {
  const { path } = useTenant()
  const { id } = useParams<{ id: string }>()
  return (
    <PageHeader
      title="Workflow"
      back={{ href: path('/workflows'), label: 'Workflows' }}
      tabs={<WorkflowTabs id={decodeURIComponent(id)} here={here} />}
      actions={actions}
    />
  )
}
