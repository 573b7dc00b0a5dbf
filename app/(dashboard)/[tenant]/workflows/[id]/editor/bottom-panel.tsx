'use client'
import { ActionIcon, Skeleton } from '@mantine/core'
import { X } from 'lucide-react'
import dynamic from 'next/dynamic'
import type { ReactNode } from 'react'
import type { TestPanelProps } from '../panels/test-panel'
import type { VersionsPanelProps } from '../panels/versions-panel'
import styles from './editor.module.css'

const PANELS = { problems: 'Problems', test: 'Test run', versions: 'Versions' } as const
export type Panel = keyof typeof PANELS

export function panelOf(text: string): Panel | null {
  return text in PANELS ? (text as Panel) : null
}

const wait = () => <Skeleton height={80} m="md" />
export const TestPanel = dynamic<TestPanelProps>(
  () => import('../panels/test-panel').then((module) => module.TestPanel),
  {
    ssr: false,
    loading: wait,
  },
)
export const VersionsPanel = dynamic<VersionsPanelProps>(
  () => import('../panels/versions-panel').then((module) => module.VersionsPanel),
  { ssr: false, loading: wait },
)

/** The panel below the graph. */
export function BottomPanel(props: { panel: Panel; onClose: () => void; children: ReactNode }) {
  const { panel, onClose, children } = props
  const title = PANELS[panel]
  return (
    <section className={styles.bottom} aria-label={title}>
      <div className={styles.bottomHead}>
        <h2 className={styles.bottomTitle}>{title}</h2>
        <ActionIcon variant="subtle" color="gray" aria-label={`Close ${title.toLowerCase()}`} onClick={onClose}>
          <X size={16} aria-hidden />
        </ActionIcon>
      </div>
      {children}
    </section>
  )
}
