import { Stack, Text } from '@mantine/core'
import { CodeBlock } from '@/app/_ui/code-block'
import { ShownOnce } from '../shown-once'

/** A new signing secret, also as lines for an .env file. */
export function SecretShown(props: {
  title: string
  made: { id: string; secret: string; audience: string }
  onClose: () => void
}) {
  const { id, secret, audience } = props.made
  const lines = `JWT_KEY_ID=${id}\nJWT_SECRET=${secret}\nJWT_AUDIENCE=${audience}`
  return (
    <ShownOnce title={props.title} what="secret" value={secret} onClose={props.onClose}>
      <Stack gap={6}>
        <Text size="sm" fw={500}>
          For an .env file
        </Text>
        <CodeBlock label="lines for an .env file" text={lines} wrap />
      </Stack>
    </ShownOnce>
  )
}
