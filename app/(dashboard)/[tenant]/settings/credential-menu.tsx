'use client'
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { Ban, CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { notifyUndo } from '@/app/_ui/notify-undo'
import { RowAction, RowMenu } from '@/app/_ui/row-menu'
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
    <RowMenu of={called}>
      {children}
      {disabled ? (
        <RowAction icon={CircleCheck} onClick={() => enable.mutate()}>
          Enable
        </RowAction>
      ) : (
        <RowAction icon={Ban} destructive onClick={() => disable.mutate()}>
          Disable
        </RowAction>
      )}
    </RowMenu>
  )
}
