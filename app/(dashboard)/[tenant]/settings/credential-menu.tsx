'use client'
import { ActionIcon, Menu } from '@mantine/core'
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { Ban, CircleCheck, Ellipsis } from 'lucide-react'
import type { ReactNode } from 'react'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { notifyUndo } from '@/app/_ui/notify-undo'
import { useRoles } from './roles'

export function CredentialMenu(props: {
  item: { id: string; name: string; role: string }
  /** The button's accessible name, if the item's name alone is not enough. */
  called: string
  disabled: boolean
  server: { kind: QueryKey; enable(id: string): Promise<unknown>; disable(id: string): Promise<unknown> }
  /** The message after each action. */
  told: { enabled: string; disabled: string }
  children?: ReactNode
}) {
  const { item, called, disabled, server, told, children } = props
  const { id, name } = item
  const queries = useQueryClient()
  const { mayGive } = useRoles()
  const onSettled = () => queries.invalidateQueries({ queryKey: server.kind })
  const enable = useMutation({
    mutationFn: () => server.enable(id),
    onSuccess: () => notifyDone(told.enabled),
    onError: (error) => notifyError(error, `${name} was not enabled`),
    onSettled,
  })
  const disable = useMutation({
    mutationFn: () => server.disable(id),
    onSuccess: () => notifyUndo(told.disabled, () => enable.mutate()),
    onError: (error) => notifyError(error, `${name} was not disabled`),
    onSettled,
  })
  // Users may not manage a credential with more rights than their own.
  if (!mayGive(item.role)) return null
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={28} aria-label={`Actions for ${called}`}>
          <Ellipsis size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {children}
        {disabled ? (
          <Menu.Item leftSection={<CircleCheck size={16} aria-hidden />} onClick={() => enable.mutate()}>
            Enable
          </Menu.Item>
        ) : (
          <Menu.Item color="red" leftSection={<Ban size={16} aria-hidden />} onClick={() => disable.mutate()}>
            Disable
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
