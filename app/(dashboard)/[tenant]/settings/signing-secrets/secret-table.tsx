'use client'
import { ActionIcon, Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Ban, CircleCheck, Ellipsis } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { IdText } from '@/app/_ui/id-text'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { notifyUndo } from '@/app/_ui/notify-undo'
import { StatusPill } from '@/app/_ui/status-pill'
import { Time } from '@/app/_ui/time'
import type { SecretItem } from '@/server/secrets/browse'
import { useRoles } from '../roles'
import styles from '../settings.module.css'

export function SecretTable({ secrets }: { secrets: SecretItem[] }) {
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Name and kid</th>
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
        {secrets.map((secret) => (
          <tr key={secret.id}>
            <td>
              <div className={styles.stack}>
                <span className={styles.strong}>{secret.name}</span>
                <IdText id={secret.id} />
              </div>
            </td>
            <td>
              <div className={styles.stack}>
                <StatusPill status={secret.state} />
                {secret.longLivedAt && (
                  <span className={styles.quiet}>
                    Long-lived tokens seen <Time at={secret.longLivedAt} />
                  </span>
                )}
              </div>
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Role</span>
              {secret.role}
            </td>
            <td>
              <span className={`${styles.label} ${styles.quiet}`}>Last used</span>
              {secret.lastUsedAt ? <Time at={secret.lastUsedAt} /> : <span className={styles.quiet}>Never</span>}
            </td>
            <td>
              <div className={styles.stack}>
                <span className={`${styles.label} ${styles.quiet}`}>Created</span>
                <Time at={secret.createdAt} />
                {secret.createdBy && <span className={styles.quiet}>by {secret.createdBy.name}</span>}
              </div>
            </td>
            <td>
              <SecretMenu item={secret} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function SecretMenu({ item }: { item: SecretItem }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { mayGive } = useRoles()
  const refresh = () => queries.invalidateQueries(trpc.secrets.pathFilter())
  const enable = useMutation(
    trpc.secrets.enable.mutationOptions({
      onSuccess: () => notifyDone(`Tokens of ${item.name} work again.`),
      onError: (error) => notifyError(error, `${item.name} was not enabled`),
      onSettled: refresh,
    }),
  )
  const disable = useMutation(
    trpc.secrets.disable.mutationOptions({
      onSuccess: () =>
        notifyUndo(`${item.name} is disabled: calls with its tokens get 401.`, () => enable.mutate({ id: item.id })),
      onError: (error) => notifyError(error, `${item.name} was not disabled`),
      onSettled: refresh,
    }),
  )
  if (!mayGive(item.role)) return null
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={28} aria-label={`Actions for ${item.name}`}>
          <Ellipsis size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {item.state === 'enabled' ? (
          <Menu.Item
            color="red"
            leftSection={<Ban size={16} aria-hidden />}
            onClick={() => disable.mutate({ id: item.id })}
          >
            Disable
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<CircleCheck size={16} aria-hidden />} onClick={() => enable.mutate({ id: item.id })}>
            Enable
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
