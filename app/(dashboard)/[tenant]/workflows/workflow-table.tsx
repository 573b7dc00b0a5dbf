'use client'
import { useEffect, useRef } from 'react'
import { Link } from '@/app/_ui/link'
import { runPill, StatusPill } from '@/app/_ui/status-pill'
import { Time } from '@/app/_ui/time'
import type { WorkflowListItem } from '@/server/views/workflows/browse'
import { useTenant } from '../tenant-context'
import styles from './list.module.css'
import { WorkflowMenu } from './workflow-menu'

export function WorkflowTable({
  items,
  marked,
  onArchive,
}: {
  items: WorkflowListItem[]
  /** The row marked by keyboard. */
  marked: number
  onArchive: (item: WorkflowListItem) => void
}) {
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" className={styles.colStatus}>
            Status
          </th>
          <th scope="col" className={styles.colRun}>
            Last run
          </th>
          <th scope="col" className={styles.colUpdated}>
            Updated
          </th>
          <th scope="col" className={styles.colMenu}>
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((item, index) => (
          <Row key={item.id} item={item} marked={index === marked} onArchive={onArchive} />
        ))}
      </tbody>
    </table>
  )
}

function Row({
  item,
  marked,
  onArchive,
}: {
  item: WorkflowListItem
  marked: boolean
  onArchive: (item: WorkflowListItem) => void
}) {
  const { path } = useTenant()
  const row = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (marked) row.current?.scrollIntoView({ block: 'nearest' })
  }, [marked])
  return (
    <tr ref={row} className={styles.row} data-marked={marked || undefined} aria-current={marked || undefined}>
      <td>
        <Link href={path(`/workflows/${item.id}`)} className={styles.name}>
          {item.name}
        </Link>
        {item.description && <div className={styles.description}>{item.description}</div>}
      </td>
      <td>
        <div className={styles.stack}>
          <StatusPill status={item.status} />
          <Liveness item={item} />
        </div>
      </td>
      <td>
        {item.lastRun ? (
          <Link href={path(`/runs/${item.lastRun.runId}`)} className={styles.run}>
            <div className={styles.stack}>
              <StatusPill status={runPill({ status: item.lastRun.state, outcome: null })} />
              <span className={styles.quiet}>
                <span className={styles.onCard}>last run </span>
                <Time at={item.lastRun.startTime} />
              </span>
            </div>
          </Link>
        ) : (
          <span className={styles.quiet}>No runs yet</span>
        )}
      </td>
      <td>
        <div className={styles.stack}>
          <span>
            <span className={styles.onCard}>Updated </span>
            <Time at={item.updatedAt} />
          </span>
          {item.updatedBy && <span className={styles.quiet}>by {item.updatedBy.name}</span>}
        </div>
      </td>
      <td>
        <WorkflowMenu item={item} onArchive={onArchive} />
      </td>
    </tr>
  )
}

/** The published version in words: a pill's colour alone does not distinguish a draft. */
function Liveness({ item }: { item: WorkflowListItem }) {
  const { status, publishedVersion, publishedNumber, version, unpublishedChanges } = item
  if (status === 'archived') return null
  if (publishedVersion === null) return <span className={styles.quiet}>Never published</span>
  if (status === 'draft') return <span className={styles.quiet}>Callers still start version {publishedNumber}</span>
  if (unpublishedChanges > 0) {
    return (
      <span className={styles.quiet}>
        {unpublishedChanges} unpublished {unpublishedChanges === 1 ? 'change' : 'changes'}
      </span>
    )
  }
  return version === publishedVersion ? <span className={styles.quiet}>v{publishedNumber}</span> : null
}
