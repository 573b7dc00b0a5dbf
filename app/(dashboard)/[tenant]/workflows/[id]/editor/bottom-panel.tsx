'use client'
import { ActionIcon, Drawer } from '@mantine/core'
import { X } from 'lucide-react'
import type { CSSProperties, KeyboardEvent, ReactNode } from 'react'
import { Resizer, usePanelSize } from '../parts/resizer'
import styles from './editor.module.css'
import { PANEL_HEIGHT, PANEL_ID, PANELS, type Panel } from './panels'

/** The panel below the graph; on a phone, which has no room below it, a sheet. */
export function BottomPanel(props: {
  panel: Panel
  phone: boolean
  tabs: readonly Panel[]
  onPanel: (panel: Panel) => void
  onClose: () => void
  children: ReactNode
}) {
  const { panel, phone, tabs, onClose, children } = props
  const height = usePanelSize('bottom', PANEL_HEIGHT)
  const title = PANELS[panel]
  const tabbed = tabs.includes(panel)
  const content = tabbed ? (
    <div role="tabpanel" id={`${PANEL_ID}-content`} aria-labelledby={tabId(panel)}>
      {children}
    </div>
  ) : (
    children
  )
  if (phone) {
    return (
      <Drawer
        opened
        onClose={onClose}
        position="bottom"
        size="100%"
        title={tabbed ? 'Try out the draft' : title}
        styles={{ body: { padding: 0 } }}
      >
        <section id={PANEL_ID} tabIndex={-1} className={styles.sheet} aria-label={title}>
          {tabbed && <PanelTabs {...props} />}
          {content}
        </section>
      </Drawer>
    )
  }
  return (
    <>
      <Resizer panel={height} label="Resize the panel" controls={PANEL_ID} vertical={false} />
      <section
        id={PANEL_ID}
        tabIndex={-1}
        className={styles.bottom}
        aria-label={title}
        style={height.size === null ? undefined : ({ '--bottom': `${height.size}px` } as CSSProperties)}
      >
        <div className={styles.bottomHead}>
          {tabbed ? <PanelTabs {...props} /> : <h2 className={styles.bottomTitle}>{title}</h2>}
          <ActionIcon variant="subtle" color="gray" aria-label={`Close ${title.toLowerCase()}`} onClick={onClose}>
            <X size={16} aria-hidden />
          </ActionIcon>
        </div>
        {content}
      </section>
    </>
  )
}

function PanelTabs({
  panel,
  tabs,
  onPanel,
}: {
  panel: Panel
  tabs: readonly Panel[]
  onPanel: (panel: Panel) => void
}) {
  function onKeyDown(event: KeyboardEvent) {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    const next = tabs[(tabs.indexOf(panel) + by + tabs.length) % tabs.length]
    if (by === 0 || next === undefined) return
    event.preventDefault()
    onPanel(next)
    document.getElementById(tabId(next))?.focus()
  }
  return (
    <div role="tablist" aria-label="Ways to try out the draft" className={styles.tabs} onKeyDown={onKeyDown}>
      {tabs.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={tabId(name)}
          className={styles.tab}
          aria-selected={name === panel}
          aria-controls={name === panel ? `${PANEL_ID}-content` : undefined}
          tabIndex={name === panel ? 0 : -1}
          onClick={() => onPanel(name)}
        >
          {PANELS[name]}
        </button>
      ))}
    </div>
  )
}

function tabId(panel: Panel): string {
  return `${PANEL_ID}-${panel}`
}
