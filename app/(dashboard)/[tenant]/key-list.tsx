'use client'
import { Kbd } from '@mantine/core'
import styles from './shortcuts.module.css'

/** `Mod` is Ctrl, or Command on a Mac. A space separates keys pressed in sequence. */
export type Line = [keys: string, does: string]
export interface KeyGroup {
  title: string
  lines: Line[]
}

/** The editor's keys. Commands have the names of their buttons and menu items. */
export const EDITOR_KEYS: KeyGroup[] = [
  {
    title: 'Editor',
    lines: [
      ['A', 'Add a step after the selected one'],
      ['L', 'Connect to…'],
      ['Shift+L', 'Remove a connection'],
      ['F2', 'Rename'],
      ['Delete', 'Delete, and close the gap'],
      ['Shift+Delete', 'Delete, and leave the gap'],
      ['Mod+C', 'Copy steps as JSON'],
      ['Mod+V', 'Paste steps'],
      ['Mod+Z', 'Undo'],
      ['Mod+Shift+Z', 'Redo'],
      ['Mod+F', 'Find a step'],
      ['Mod+S', 'Save now'],
      ['Ctrl+Space', 'Insert a value in a field'],
    ],
  },
  {
    title: 'Graph',
    lines: [
      ['↑ ↓ ← →', 'Follow the connections'],
      ['Home', 'Go to START'],
      ['End', 'Go to END'],
      ['Letters', 'Jump to a step by its name'],
      ['Enter', 'Open the step'],
      ['M', 'Move the step with the arrow keys'],
      ['Shift+T', 'Tidy all steps'],
      ['1', 'Show the whole graph'],
      ['0', 'Actual size'],
    ],
  },
  {
    title: 'Step through, while its panel has the focus',
    lines: [
      ['F10', 'Step'],
      ['F5', 'Continue to the next breakpoint'],
      ['B', 'Set or remove a breakpoint'],
    ],
  },
]

export function KeyList({ groups }: { groups: readonly KeyGroup[] }) {
  return (
    <div className={styles.groups}>
      {groups.map(({ title, lines }) => (
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
