'use client'
import type { ReactNode } from 'react'
import { PageHeader } from '@/app/_ui/page-header'
import { useTenant } from '../../../tenant-context'
import { WorkflowTabs } from '../../workflow-tabs'
import styles from './header.module.css'

/**
 * The header of the pages on which the draft is edited or compared: the published version, unpublished changes, and
 * Publish.
 */
export function DraftHeader(props: {
  id: string
  here: 'editor' | 'versions' | 'settings'
  name: string
  publishedVersion: number | null
  /** The published version's number; null without one, or while it loads. */
  publishedNumber: number | null
  /** The number of changes since the published version; null without one. */
  unpublished: number | null
  archived: boolean
  /** Why the workflow is read-only, or whether the draft is saved. */
  state?: ReactNode
  /** The other users here. */
  others?: ReactNode
  actions: ReactNode
}) {
  const { id, here, name, publishedVersion, publishedNumber, unpublished, archived, state, others, actions } = props
  const { path } = useTenant()
  return (
    <PageHeader
      title={name}
      back={{ href: path('/workflows'), label: 'Workflows' }}
      tabs={<WorkflowTabs id={id} here={here} />}
      meta={
        <span className={styles.facts}>
          <span>{liveText(publishedVersion, publishedNumber, archived)}</span>
          {publishedVersion !== null && unpublished !== null && (
            <span className={unpublished > 0 ? styles.changes : undefined}>{changesText(unpublished)}</span>
          )}
          {state !== undefined && <span role="status">{state}</span>}
        </span>
      }
      beside={others}
      actions={actions}
    />
  )
}

function liveText(publishedVersion: number | null, number: number | null, archived: boolean): string {
  if (archived) return 'Archived'
  if (publishedVersion === null) return 'Draft, never published'
  return number === null ? 'Published' : `v${number} published`
}

function changesText(count: number): string {
  if (count === 0) return 'No unpublished changes'
  return count === 1 ? '1 unpublished change' : `${count} unpublished changes`
}
