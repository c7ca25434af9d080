import { AppError } from '../lib/errors.ts';

/** 403 for a sender whose domain is not verified for the project; the odd code is the contract's (page 1, 1.3). */
export function senderDomainRefused(domain: string): AppError {
  return new AppError(
    403,
    'INTERNAL_SERVER_ERROR',
    `The domain ${domain} is not a verified sender domain of this project: add it with POST /domains and set its DNS records`,
  );
}
