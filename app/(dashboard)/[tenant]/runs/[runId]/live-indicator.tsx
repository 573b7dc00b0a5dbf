import { Radio, RefreshCw, Square, WifiOff } from 'lucide-react'
import styles from './run.module.css'
import type { LiveState } from './use-live-run'

const STATES = {
  live: { text: 'Live', icon: Radio, title: 'Changes appear as they happen.' },
  connecting: { text: 'Connecting', icon: RefreshCw, title: 'Opening the stream of changes.' },
  reconnecting: {
    text: 'Reconnecting',
    icon: RefreshCw,
    title: 'The stream of changes broke off and is opened again.',
  },
  polling: {
    text: 'Polling',
    icon: WifiOff,
    title: 'The stream of changes does not work here; asking every two seconds.',
  },
  paused: { text: 'Paused (tab hidden)', icon: Square, title: 'Nothing is asked while nobody looks.' },
} as const

/** How fresh the page is, in words. */
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
