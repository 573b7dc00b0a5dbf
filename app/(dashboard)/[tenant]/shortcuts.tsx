'use client'
import { Anchor, Kbd } from '@mantine/core'
import Link from 'next/link'
import { Dialog } from '@/app/_ui/dialog'
import { singleKeysOn } from '@/app/_ui/single-keys'
import { PLACES } from './places'
import styles from './shortcuts.module.css'
import { useTenant } from './tenant-context'

type Line = [keys: string, does: string]

/** `Mod` is Ctrl, or Command on a Mac. A space separates keys pressed one after the other. */
const GROUPS: { title: string; lines: Line[] }[] = [
  {
    title: 'Everywhere',
    lines: [
      ['Mod+K', 'Command palette'],
      ['?', 'This sheet'],
      ['/', 'Search this screen'],
      ['C', 'Create a new item'],
      ['Mod+.', 'Copy a link to this screen'],
      ['Esc', 'Close or clear'],
    ],
  },
  { title: 'Go to', lines: PLACES.map(({ key, label }): Line => [`G ${key.toUpperCase()}`, label]) },
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
  {
    title: 'Editor',
    lines: [
      ['A', 'Add a step'],
      ['L', 'Connect the step'],
      ['Shift+L', 'Remove a connection'],
      ['F2', 'Rename the step'],
      ['Delete', 'Delete the step'],
      ['M', 'Move with the arrow keys'],
      ['1', 'Fit to screen'],
      ['0', 'Actual size'],
      ['Shift+T', 'Tidy'],
      ['Mod+Z', 'Undo'],
      ['Mod+Shift+Z', 'Redo'],
      ['Mod+F', 'Find a step'],
      ['Mod+S', 'Save now'],
    ],
  },
]

/** All keyboard shortcuts. */
export function ShortcutSheet({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { path } = useTenant()
  return (
    <Dialog opened={opened} onClose={onClose} title="Keyboard shortcuts" size="xl">
      <div className={styles.groups}>
        {GROUPS.map(({ title, lines }) => (
          <section key={title} className={styles.group}>
            <h3 className={styles.title}>{title}</h3>
            <dl className={styles.lines}>
              {lines.map(([keys, does]) => (
                <div key={keys} className={styles.line}>
                  <dt>{does}</dt>
                  <dd>
                    <Keys keys={keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
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

function Keys({ keys }: { keys: string }) {
  const mac = /mac|iphone|ipad/i.test(navigator.userAgent)
  return keys.split(/[ +]/).map((key, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the keys of a line do not change
    <Kbd key={index} size="xs">
      {key === 'Mod' ? (mac ? '⌘' : 'Ctrl') : key}
    </Kbd>
  ))
}
