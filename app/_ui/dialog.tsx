'use client'
import { Group, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './dialog.module.css'

/**
 * Every dialog of the dashboard. Escape, the cross and a click outside close it, and the focus returns to its opener.
 *
 * - The title names the action and its object: `Rename “The order”`, `New agent`; for people only the name. If the dialog
 *   asks for confirmation (to end, replace or reveal something, or to start many runs), the title is a question: `Delete
 *   “Nightly”?`. A dialog that only shows something is named after its content.
 * - The text is small and in the text colour. Sentences say `version 2`, buttons `v2`.
 * - The last button repeats the title's verb: `Delete`, `Rename`. Editing an existing object has `Save`, making a new one
 *   `Create` and the noun. The button before it is `Cancel`, or `Keep` where something would be lost or where `Cancel`
 *   could mean the action; `Close` where there is nothing to cancel.
 * @param props.size `md` for a question or a short form, `lg` for code or many fields, `xl` for two columns or a graph
 * @param props.closes which actions close it besides its buttons; fewer where a stray click would lose something, or where
 * users must choose
 * @param props.top at a fixed distance from the top, because its height changes during typing
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
 * A dialog's buttons, always visible: first the one that changes nothing, last the dialog's action.
 * @param props.beside another action, on the other side
 */
export function DialogButtons({ beside, children }: { beside?: ReactNode; children: ReactNode }) {
  return (
    <Group justify={beside ? 'space-between' : 'flex-end'} className={styles.buttons ?? ''}>
      {beside}
      {/* The buttons stay right-aligned where they wrap. */}
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
