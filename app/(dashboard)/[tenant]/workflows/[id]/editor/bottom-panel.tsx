'use client'
import { ActionIcon } from '@mantine/core'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './editor.module.css'

const PANELS = { problems: 'Problems', simulate: 'Simulation', test: 'Test run', versions: 'Versions' } as const
export type Panel = keyof typeof PANELS

export function panelOf(text: string): Panel | null {
  return text in PANELS ? (text as Panel) : null
}

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
