'use client'
import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'

/** Reports an action that can be undone, for ten seconds by default. */
export function notifyUndo(message: string, undo: () => void, forMs = 10_000): void {
  const id = notifications.show({
    color: 'green',
    autoClose: forMs,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <span>{message}</span>
        <Button
          size="compact-sm"
          flex="none"
          variant="default"
          onClick={() => {
            notifications.hide(id)
            undo()
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  })
}
