'use client'
import Link from 'next/link'
import type { MouseEvent } from 'react'
import { useTenant } from '../tenant-context'
import styles from './workflow-tabs.module.css'

/** The pages of one workflow. Versions and settings are panels of the editor, which opens them itself when it is here. */
export function WorkflowTabs(props: {
  id: string
  here: 'editor' | 'runs' | 'insights'
  onVersions?: () => void
  onSettings?: () => void
}) {
  const { id, here, onVersions, onSettings } = props
  const { path } = useTenant()
  const base = path(`/workflows/${encodeURIComponent(id)}`)
  const tab = (label: string, href: string, current: boolean, onOpen?: () => void) => (
    <li>
      <Link
        href={href}
        className={styles.tab}
        aria-current={current ? 'page' : undefined}
        onClick={(event: MouseEvent) => {
          if (!onOpen || event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          onOpen()
        }}
      >
        {label}
      </Link>
    </li>
  )
  return (
    <nav aria-label="This workflow">
      <ul className={styles.tabs}>
        {tab('Editor', base, here === 'editor')}
        {tab('Runs', `${base}/runs`, here === 'runs')}
        {tab('Insights', `${base}/insights`, here === 'insights')}
        {tab('Versions', `${base}?panel=versions`, false, onVersions)}
        {tab('Settings', `${base}?panel=settings`, false, onSettings)}
      </ul>
    </nav>
  )
}
