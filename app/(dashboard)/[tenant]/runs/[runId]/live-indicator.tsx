import { Radio, RefreshCw, Square, WifiOff } from 'lucide-react'
import styles from './run.module.css'
import type { LiveState } from './use-live-run'

const STATES = {
  live: { text: 'Live', icon: Radio, title: 'Changes appear as they happen.' },
  connecting: { text: 'Connecting', icon: RefreshCw, title: 'Connecting.' },
  reconnecting: {
    text: 'Reconnecting',
    icon: RefreshCw,
    title: 'Connection lost. Reconnecting.',
  },
  polling: {
    text: 'Polling',
    icon: WifiOff,
    title: 'Live updates are not available here. Refreshing every two seconds.',
  },
  paused: { text: 'Paused (tab hidden)', icon: Square, title: 'Updates continue when you come back to this tab.' },
} as const

/** Shows how current the page is. */
export function LiveIndicator({ state }: { state: LiveState }) {
  if (state === 'ended') return null
  const { text, icon: Icon, title } = STATES[state]
  return (
    <span className={styles.live} data-state={state} title={title} role="status">
      <Icon size={14} aria-hidden />
      {text}
    </span>
  )
}
