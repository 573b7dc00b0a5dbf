'use client'
import { Button } from '@mantine/core'
import { Rocket } from 'lucide-react'
import { useTenant } from '../../../tenant-context'

/** Opens the dialog that publishes, for the roles that may. */
export function PublishButton({ onPublish }: { onPublish: () => void }) {
  const { may } = useTenant()
  if (!may('workflow:publish')) return null
  return (
    <Button leftSection={<Rocket size={16} aria-hidden />} onClick={onPublish}>
      Publish
    </Button>
  )
}
