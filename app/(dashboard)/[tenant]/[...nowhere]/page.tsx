import { notFound } from 'next/navigation'

/**
 * Catches unknown URLs of the workspace, so that "Page not found" appears inside the dashboard's frame. No
 * `loading.tsx` may be above it: its content would be sent with status 200 before the error is known.
 */
export default function Nowhere() {
  notFound()
}
