'use client'
import { ActionIcon, Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Ban, CircleCheck, Ellipsis, RefreshCw } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { notifyUndo } from '@/app/_ui/notify-undo'
import { StatusPill } from '@/app/_ui/status-pill'
import { Time } from '@/app/_ui/time'
import type { KeyItem } from '@/server/keys/browse'
import { useRoles } from '../roles'
import styles from '../settings.module.css'

export function KeyTable({
  keys,
  all,
  onRotate,
}: {
  keys: KeyItem[]
  all: KeyItem[]
  onRotate: (key: { id: string; name: string }) => void
}) {
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Status</th>
          <th scope="col">Role</th>
          <th scope="col">Last used</th>
          <th scope="col">Created</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr key={key.id}>
            <td>
              <div className={styles.stack}>
                <span className={styles.strong}>{key.name}</span>
                <span className={`mono ${styles.quiet}`}>{key.hint}</span>
              </div>
            </td>
            <td>
              <State item={key} heir={all.find(({ id }) => id === key.replacedBy)} />
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Role</span>
              {key.role}
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Last used</span>
              {key.lastUsedAt ? <Time at={key.lastUsedAt} /> : <span className={styles.quiet}>Never</span>}
            </td>
            <td>
              <div className={styles.stack}>
                <span className={`${styles.label} ${styles.quiet}`}>Created</span>
                <Time at={key.createdAt} />
                {key.createdBy && <span className={styles.quiet}>by {key.createdBy.name}</span>}
              </div>
            </td>
            <td>
              <KeyMenu item={key} onRotate={onRotate} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function State({ item, heir }: { item: KeyItem; heir: KeyItem | undefined }) {
  if (item.state === 'enabled') return <StatusPill status="enabled" />
  return (
    <div className={styles.stack}>
      {item.state === 'ending' ? (
        <StatusPill status="paused" label="Ending" />
      ) : (
        <StatusPill status="disabled" label={item.state === 'replaced' ? 'Replaced' : 'Disabled'} />
      )}
      {item.state === 'ending' && item.graceUntil && (
        <span className={styles.quiet}>
          Ends <Time at={item.graceUntil} />
        </span>
      )}
      {heir && <span className={styles.quiet}>Replaced by {heir.hint}</span>}
    </div>
  )
}

function KeyMenu({ item, onRotate }: { item: KeyItem; onRotate: (key: { id: string; name: string }) => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { mayGive } = useRoles()
  const refresh = () => queries.invalidateQueries(trpc.keys.pathFilter())
  const enable = useMutation(
    trpc.keys.enable.mutationOptions({
      onSuccess: () => notifyDone(`${item.name} works again.`),
      onError: (error) => notifyError(error, `${item.name} was not enabled`),
      onSettled: refresh,
    }),
  )
  const disable = useMutation(
    trpc.keys.disable.mutationOptions({
      onSuccess: () =>
        notifyUndo(`${item.name} is disabled: calls with it get 401.`, () => enable.mutate({ id: item.id })),
      onError: (error) => notifyError(error, `${item.name} was not disabled`),
      onSettled: refresh,
    }),
  )
  // Nobody handles a key that may do more than they may themselves.
  if (!mayGive(item.role) || item.state === 'replaced') return null
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={28} aria-label={`Actions for ${item.name} ${item.hint}`}>
          <Ellipsis size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {item.state === 'enabled' && (
          <Menu.Item leftSection={<RefreshCw size={16} aria-hidden />} onClick={() => onRotate(item)}>
            Rotate
          </Menu.Item>
        )}
        {item.state === 'disabled' ? (
          <Menu.Item leftSection={<CircleCheck size={16} aria-hidden />} onClick={() => enable.mutate({ id: item.id })}>
            Enable
          </Menu.Item>
        ) : (
          <Menu.Item
            color="red"
            leftSection={<Ban size={16} aria-hidden />}
            onClick={() => disable.mutate({ id: item.id })}
          >
            Disable
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
