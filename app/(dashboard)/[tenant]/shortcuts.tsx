'use client'
import { Anchor } from '@mantine/core'
import { Dialog } from '@/app/_ui/dialog'
import { Link } from '@/app/_ui/link'
import { singleKeysOn } from '@/app/_ui/single-keys'
import { EDITOR_KEYS, type KeyGroup, KeyList, type Line } from './key-list'
import type { Place } from './places'
import styles from './shortcuts.module.css'
import { useTenant } from './tenant-context'
import { usePlaces } from './use-places'

const groupsOf = (places: Place[]): KeyGroup[] => [
  {
    title: 'Everywhere',
    lines: [
      ['Mod+K', 'Search everything'],
      ['?', 'This sheet'],
      ['/', 'Search this screen'],
      ['C', 'Create a new item'],
      ['Mod+.', 'Copy a link to this screen'],
      ['Esc', 'Close, clear, or leave the field of a task'],
    ],
  },
  { title: 'Go to', lines: places.map(({ key, label }): Line => [`G ${key.toUpperCase()}`, label]) },
  {
    title: 'Lists',
    lines: [
      ['J', 'Next row'],
      ['K', 'Previous row'],
      ['Enter', 'Open the row'],
      ['E', 'Archive the row (workflows)'],
      ['F', 'Filter (runs)'],
      ['R', 'Refresh (runs)'],
      ['N', 'Show new runs'],
    ],
  },
  {
    title: 'Run and inbox',
    lines: [
      ['J', 'Next step, or next task'],
      ['K', 'Previous step, or previous task'],
      ['E', 'Errors only (run)'],
      ['← →', 'Close or open branches (run)'],
      ['1 … 9', 'Choose an action (inbox)'],
      ['Mod+Enter', 'Send the answer'],
    ],
  },
  ...EDITOR_KEYS,
]

/** All keyboard shortcuts. */
export function ShortcutSheet({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { path } = useTenant()
  const groups = groupsOf(usePlaces())
  return (
    <Dialog opened={opened} onClose={onClose} title="Keyboard shortcuts" size="xl">
      <KeyList groups={groups} />
      <p className={styles.foot}>
        {opened && singleKeysOn() ? 'Single-letter shortcuts are on' : 'Single-letter shortcuts are off'} in this
        browser.{' '}
        <Anchor component={Link} href={path('/settings/preferences')} onClick={onClose} underline="always" inherit>
          Preferences
        </Anchor>
        .
      </p>
    </Dialog>
  )
}
