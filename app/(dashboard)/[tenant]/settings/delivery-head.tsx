import { ActionIcon, NativeSelect, Tooltip } from '@mantine/core'
import { X } from 'lucide-react'
import { DELIVERIES } from './deliveries-id'
import styles from './settings.module.css'

/** The deliveries' heading with the status filter and the button that closes the list. */
export function DeliveryHead<S extends string>(props: {
  called: string
  /** The display names of the statuses. */
  statuses: Record<S, string>
  status: S | ''
  onStatus: (status: S | '') => void
  onClose: () => void
}) {
  const { called, statuses, status, onStatus, onClose } = props
  const close = () => {
    // This button disappears with the list, so the focus returns to the one that opened it.
    document.querySelector<HTMLElement>(`[aria-controls="${DELIVERIES}"]`)?.focus()
    onClose()
  }
  return (
    <div className={styles.listHead}>
      <h2 id={`${DELIVERIES}-title`}>Deliveries to {called}</h2>
      <span className={styles.listTools}>
        <NativeSelect
          aria-label="Status of the deliveries"
          size="xs"
          value={status}
          onChange={({ currentTarget }) => onStatus(currentTarget.value as S | '')}
          data={[
            { value: '', label: 'All deliveries' },
            ...Object.entries<string>(statuses).map(([value, label]) => ({ value, label })),
          ]}
        />
        <Tooltip label="Close the list">
          <ActionIcon variant="subtle" color="gray" aria-label="Close the list" onClick={close}>
            <X size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </span>
    </div>
  )
}
