/**
 * The id of a webhook's list of deliveries, which the webhook's row opens. Separate, because the list itself loads
 * later.
 */
export const DELIVERIES = 'deliveries'
