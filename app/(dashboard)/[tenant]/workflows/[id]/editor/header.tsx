'use client'
import type { ReactNode } from 'react'
import { BackLink } from '@/app/_ui/back-link'
import { useTenant } from '../../../tenant-context'
import styles from './editor.module.css'
import head from './header.module.css'

/** The workflow's name, what is published, what is not, and whether the draft is saved. */
export function EditorHeader(props: {
  name: string
  publishedVersion: number | null
  /** The number of changes since the published version; null when nothing is published. */
  unpublished: number | null
  archived: boolean
  /** Why the workflow is read-only, or null. */
  reason: string | null
  saveState: ReactNode
  /** Who else is here. It has its place whether or not anybody is. */
  others: ReactNode
  tabs: ReactNode
  actions: ReactNode
}) {
  const { name, publishedVersion, unpublished, archived, reason, saveState, others, tabs, actions } = props
  const { path } = useTenant()
  return (
    <header className={styles.header}>
      <div className={head.words}>
        <BackLink href={path('/workflows')} label="Workflows" />
        <h1 className={head.title}>{name}</h1>
        <span className={head.facts}>
          <span>{liveText(publishedVersion, archived)}</span>
          {publishedVersion !== null && unpublished !== null && (
            <span className={unpublished > 0 ? head.changes : undefined}>{changesText(unpublished)}</span>
          )}
          <span role="status">{reason ?? saveState}</span>
        </span>
        <div className={head.others}>{others}</div>
      </div>
      {tabs}
      <div className={head.actions}>{actions}</div>
    </header>
  )
}

function liveText(publishedVersion: number | null, archived: boolean): string {
  if (archived) return 'Archived'
  return publishedVersion === null ? 'Draft, never published' : `v${publishedVersion} published`
}

function changesText(count: number): string {
  if (count === 0) return 'no unpublished changes'
  return count === 1 ? '1 unpublished change' : `${count} unpublished changes`
}
