'use client'
import { Group, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './dialog.module.css'

/**
 * Every dialog of the dashboard. Escape, the cross and a click beside it close it, and the focus returns to what opened it.
 *
 * - The title says what is done and to what, by name: `Rename “The order”`, `New agent`; of people the name alone. If the
 *   dialog asks for a yes (to end, replace or reveal something, or to start many runs), the title is a question: `Delete
 *   “Nightly”?`. A dialog that only shows something is called what it shows.
 * - The text is small and in the colour of text. Sentences say `version 2`, buttons `v2`.
 * - The last button repeats the verb of the title: `Delete`, `Rename`. What edits something that exists has `Save`, what
 *   makes something `Create` and the noun. The button before it is `Cancel`, or `Keep` where something would be lost or
 *   where `Cancel` could mean the action; `Close` where there is nothing to leave undone.
 * @param props.size `md` for a question or a short form, `lg` for code or many fields, `xl` for two columns
 * @param props.closes what else closes it than its buttons: where a stray click would lose something, or where people have to
 * choose
 * @param props.top at a fixed distance from the top, because its height changes while people type
 */
export function Dialog({
  title,
  onClose,
  opened = true,
  size = 'md',
  closes = 'anything',
  top = false,
  children,
}: {
  title: string
  onClose: () => void
  opened?: boolean
  size?: 'md' | 'lg' | 'xl'
  closes?: 'anything' | 'no click' | 'nothing'
  top?: boolean
  children: ReactNode
}) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      size={size}
      classNames={{ body: styles.body ?? '' }}
      {...(top ? { yOffset: '12vh' } : { centered: true })}
      closeOnClickOutside={closes === 'anything'}
      closeOnEscape={closes !== 'nothing'}
      withCloseButton={closes !== 'nothing'}
    >
      {children}
    </Modal>
  )
}

/**
 * The buttons at the end of a dialog, in sight however long it is: first what leaves everything as it is, last what the
 * dialog is for.
 * @param props.beside something else that can be done, on the other side
 */
export function DialogButtons({ beside, children }: { beside?: ReactNode; children: ReactNode }) {
  return (
    <Group justify={beside ? 'space-between' : 'flex-end'} className={styles.buttons ?? ''}>
      {beside}
      {/* They stay on the right even where they do not fit on the line. */}
      {beside ? (
        <Group ml="auto" justify="flex-end">
          {children}
        </Group>
      ) : (
        children
      )}
    </Group>
  )
}
