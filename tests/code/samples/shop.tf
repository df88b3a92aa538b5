variable "region" {
  default = "eu"
}

locals {
  size = 3
}

resource "aws_s3_bucket" "logs" {
  bucket = "logs-${var.region}"

  lifecycle_rule "old" {
    days = local.size
  }
}

module "vpc" {
  source = "./vpc"
}

output "url" {
  value = aws_s3_bucket.logs.id
}
