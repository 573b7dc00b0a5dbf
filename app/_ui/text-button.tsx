import { Anchor } from '@mantine/core'

/** A button that looks like a link, such as to enter the same value in another way. */
export function TextButton({ onClick, children }: { onClick: () => void; children: string }) {
  return (
    <Anchor component="button" type="button" size="sm" ta="start" onClick={onClick}>
      {children}
    </Anchor>
  )
}
